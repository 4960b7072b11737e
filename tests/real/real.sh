# Sourced by what runs real programs of Debian's on the software GPU (the demo, tests/real/*.t): where they are, their model,
# how they are started. The programs come with tests/vgpu/releases.
# shellcheck shell=sh

real_top=${tap_top:-$PWD}
real_store=${VGPU_RELEASES:-$real_top/cache/releases}
# The set that llama.cpp comes from: `llama' has ROCm 7.2.4 below programs that were built with 6.4, `llama-sid' has 6.4.
llama_set=${llama_set:-llama}
real_llama=$real_store/$llama_set
real_model=$real_top/cache/llama-random.gguf

# llama_python ARGS: becomes the Python that was fetched with llama.cpp
llama_python() {
    exec "$real_llama/vgpu-lib/python3" "$@"
}

# llama_make_model: once; again when what makes it has changed
llama_make_model() {
    [ -z "$(find "$real_model" -newer "$real_top/tests/real/model.py" 2>/dev/null)" ] || return 0
    (llama_python "$real_top/tests/real/model.py" "$real_model.$$") && mv "$real_model.$$" "$real_model" && return
    rm -f "$real_model.$$"
    return 1
}

# llama OPTIONS OF tests/vgpu/run -- PROGRAM ARGS: becomes that program of llama.cpp. It looks for its backends where it
# is started, because its executable is the loader.
llama() {
    cd "$real_llama/usr/lib/x86_64-linux-gnu/ggml/backends0" || exit
    exec "$real_top/tests/vgpu/run" --release "$real_llama" --title "$@"
}

# llama_server SOCKET GPU-OPTIONS ARGS: becomes the server, which answers on a Unix socket and no port, four requests at
# a time. GPU-OPTIONS are tests/vgpu/run's, in one string.
llama_server() {
    llama_socket=$1
    llama_options=$2
    shift 2
    # shellcheck disable=SC2086 # options without blanks
    llama $llama_options -- "$real_llama/usr/bin/llama-server" -m "$real_model" -ngl 99 --host "$llama_socket" \
        --no-webui -np 4 -c 4096 "$@"
}

# Sourced by the demo and tests/real/*.t, which run Debian's real programs on the software GPU: paths, the model, and functions
# to start them. tests/vgpu/releases fetches the programs.
# shellcheck shell=sh

real_top=${tap_top:-$PWD}
real_store=${VGPU_RELEASES:-$real_top/cache/releases}
# The set of llama.cpp: `llama' has ROCm 7.2.4 with programs that were built with 6.4, `llama-sid' has 6.4.
llama_set=${llama_set:-llama}
real_llama=$real_store/$llama_set
real_model=$real_top/cache/llama-random.gguf

# llama_python ARGS: exec the Python that was fetched with llama.cpp
llama_python() {
    exec "$real_llama/vgpu-lib/python3" "$@"
}

# llama_make_model: make the model, once; again after a change of model.py
llama_make_model() {
    [ -z "$(find "$real_model" -newer "$real_top/tests/real/model.py" 2>/dev/null)" ] || return 0
    (llama_python "$real_top/tests/real/model.py" "$real_model.$$") && mv "$real_model.$$" "$real_model" && return
    rm -f "$real_model.$$"
    return 1
}

# llama OPTIONS OF tests/vgpu/run -- PROGRAM ARGS: exec that program of llama.cpp. It searches the working directory for its
# backends, because its executable is the loader.
llama() {
    cd "$real_llama/usr/lib/x86_64-linux-gnu/ggml/backends0" || exit
    exec "$real_top/tests/vgpu/run" --release "$real_llama" --title "$@"
}

# llama_server SOCKET GPU-OPTIONS ARGS: exec the server, which answers on a Unix socket only, four requests at a time.
# GPU-OPTIONS are options of tests/vgpu/run in one string.
llama_server() {
    llama_socket=$1
    llama_options=$2
    shift 2
    # shellcheck disable=SC2086 # options without blanks
    llama $llama_options -- "$real_llama/usr/bin/llama-server" -m "$real_model" -ngl 99 --host "$llama_socket" \
        --no-webui -np 4 -c 4096 "$@"
}

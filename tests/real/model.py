#!/usr/bin/env python3
"""Make a small model of random weights for llama.cpp: model.py FILE

It has the shape of a small llama: 8 layers of 1024 with 16 heads and 4 key-value heads, f16, 186 MB. Its answers are random,
also because the software GPU executes no kernel by default. The vocabulary is bytes and meaningless words.
"""
import sys

import gguf
import numpy as np

LAYERS, WIDTH, HEADS, KV_HEADS, FEED, VOCABULARY, CONTEXT = 8, 1024, 16, 4, 2816, 1259, 4096

w = gguf.GGUFWriter(sys.argv[1], "llama")
w.add_name("random")
w.add_block_count(LAYERS)
w.add_context_length(CONTEXT)
w.add_embedding_length(WIDTH)
w.add_feed_forward_length(FEED)
w.add_head_count(HEADS)
w.add_head_count_kv(KV_HEADS)
w.add_layer_norm_rms_eps(1e-5)
w.add_rope_dimension_count(WIDTH // HEADS)
w.add_rope_freq_base(10000.0)
w.add_vocab_size(VOCABULARY)
w.add_file_type(1)  # mostly f16

words = VOCABULARY - 3 - 256
w.add_tokenizer_model("llama")
w.add_token_list(
    [b"<unk>", b"<s>", b"</s>"]
    + [b"<0x%02X>" % byte for byte in range(256)]
    + [("\u2581w%d" % word).encode() for word in range(words)]
)
w.add_token_scores([0.0] * (VOCABULARY - words) + [-float(word) for word in range(words)])
w.add_token_types([2, 3, 3] + [6] * 256 + [1] * words)  # unknown, control, byte, normal
w.add_bos_token_id(1)
w.add_eos_token_id(2)
w.add_unk_token_id(0)
w.add_add_bos_token(True)

random = np.random.default_rng(1)


def matrix(name, *shape):
    w.add_tensor(name, (random.standard_normal(shape, dtype=np.float32) * 0.02).astype(np.float16))


def norm(name):
    w.add_tensor(name, np.ones(WIDTH, dtype=np.float32))


kv_width = WIDTH // HEADS * KV_HEADS
matrix("token_embd.weight", VOCABULARY, WIDTH)
matrix("output.weight", VOCABULARY, WIDTH)
norm("output_norm.weight")
for layer in range(LAYERS):
    block = "blk.%d." % layer
    norm(block + "attn_norm.weight")
    norm(block + "ffn_norm.weight")
    matrix(block + "attn_q.weight", WIDTH, WIDTH)
    matrix(block + "attn_k.weight", kv_width, WIDTH)
    matrix(block + "attn_v.weight", kv_width, WIDTH)
    matrix(block + "attn_output.weight", WIDTH, WIDTH)
    matrix(block + "ffn_gate.weight", FEED, WIDTH)
    matrix(block + "ffn_up.weight", FEED, WIDTH)
    matrix(block + "ffn_down.weight", WIDTH, FEED)
w.write_header_to_file()
w.write_kv_data_to_file()
w.write_tensors_to_file()
w.close()

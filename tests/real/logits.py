#!/usr/bin/env python3
"""Get a llama-server's probabilities of the next token, and compare two of them.

logits.py ask SOCKET TOKENS     send a fixed prompt, generate TOKENS tokens, and print a line of JSON for each: the likeliest
                                tokens and their log probabilities. Print the server's time per token on stderr.
logits.py compare FILE FILE     print the normalised mean square error of two such outputs, and how many of the likeliest
                                tokens agree. Exit status 1 if the error is 1e-3 or more (the sum over the model's layers),
                                or if the likeliest tokens differ although the first one's lead is larger than the error.
"""
import json
import sys

from ask import completion, prompt


def asked(path, tokens):
    status, answer = completion(path, prompt(3, 6), tokens, cache_prompt=False, n_probs=30)
    if status != 200:
        sys.exit("%d %s" % (status, json.dumps(answer)))
    for position in answer["completion_probabilities"]:
        print(json.dumps([[top["id"], top["logprob"]] for top in position["top_logprobs"]]))
    spent = answer["timings"]
    through = spent["prompt_n"] + spent["predicted_n"] - 1  # tokens through the model: it does not read the last token of its answer
    print("%.3g s a token, of %d" % ((spent["prompt_ms"] + spent["predicted_ms"]) / 1000 / through, through), file=sys.stderr)


def compare(one, other):
    square = power = 0.0
    same = positions = 0
    wrong = []
    for a, b in zip(open(one), open(other)):
        a, b = json.loads(a), json.loads(b)
        found = dict(b)
        both = [(p, found[token]) for token, p in a if token in found]
        mean = sum(p for p, _ in both) / len(both)
        square += sum((p - q) ** 2 for p, q in both)
        power += sum((p - mean) ** 2 for p, _ in both)
        worst = max(abs(p - q) for p, q in both)
        positions += 1
        same += a[0][0] == b[0][0]
        if a[0][0] != b[0][0]:
            if a[0][1] - a[1][1] > 2 * worst:
                wrong.append(positions)
            break  # after this token the texts differ
    error = square / power if power else 1.0
    print("NMSE %.2e, the likeliest token agrees at %d of %d" % (error, same, positions))
    return 1 if error >= 1e-3 or wrong or not positions else 0


if __name__ == "__main__":
    if len(sys.argv) == 4 and sys.argv[1] == "ask":
        asked(sys.argv[2], int(sys.argv[3]))
    elif len(sys.argv) == 4 and sys.argv[1] == "compare":
        sys.exit(compare(sys.argv[2], sys.argv[3]))
    else:
        sys.exit(__doc__)

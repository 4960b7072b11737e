#!/usr/bin/env python3
"""Send requests to a llama-server that listens on a Unix socket.

ask.py SOCKET ready PID         wait until the server answers; status 1 if process PID has ended, or after two minutes
ask.py SOCKET answers CLIENTS   send fixed questions: first one request after another, each with up to four prompts that
                                the server batches, then CLIENTS requests at a time. Print the answers; of the latter only
                                how they ended, because their batches depend on timing.
ask.py SOCKET forever CLIENTS   keep sending requests, CLIENTS at a time, until the server or the parent has ended
ask.py SOCKET slowly CLIENTS    the same for a server that takes a second for a token: short questions and answers
"""
import http.client
import json
import os
import queue
import random
import socket
import sys
import threading
import time


class Connection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost", timeout=600)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


def ask(path, method, url, body=None):
    connection = Connection(path)
    try:
        connection.request(method, url, body and json.dumps(body), {"Content-Type": "application/json"})
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read() or b"null")
    finally:
        connection.close()


def completion(path, prompts, tokens, **more):
    """Request a completion; prompts are lists of token numbers."""
    return ask(path, "POST", "/completion", {"prompt": prompts, "n_predict": tokens, "temperature": 0, "seed": 1,
                                             "ignore_eos": True, "return_tokens": True, **more})


def alive(pid):
    try:
        with open("/proc/%s/stat" % pid, "rb") as stat:
            return stat.read().rpartition(b") ")[2][:1] != b"Z"
    except OSError:
        return False


def ready(path, pid):
    end = time.monotonic() + 120
    while time.monotonic() < end and alive(pid):
        try:
            if ask(path, "GET", "/health")[0] == 200:
                return 0
        except (OSError, http.client.HTTPException, ValueError):
            pass
        time.sleep(0.05)
    return 1


def prompt(number, length):
    return [1] + [259 + (37 * number + 11 * i) % 1000 for i in range(length - 1)]


ENDS = ("stop_type", "tokens_evaluated", "tokens_predicted", "truncated")


def answers(path, clients):
    failed = []

    def say(label, prompts, tokens, keys):
        # no reuse of an earlier question's state: the answer depends only on the question
        status, answer = completion(path, prompts, tokens, cache_prompt=False)
        if status != 200:
            failed.append(label)
            return "%s %d %s" % (label, status, json.dumps(answer))
        several = sorted(answer, key=lambda a: a["index"]) if isinstance(answer, list) else [answer]
        return "\n".join("%s %s" % (label, json.dumps([a.get(key) for key in keys])) for a in several)

    # prompts of one token and of several batches, answers of one token and of some dozens
    rounds = [([1], 1), ([30, 31], 12), ([700], 4), ([12, 200, 64, 3], 16), ([2, 2, 2, 2], 8)]
    for i, (lengths, tokens) in enumerate(rounds):
        prompts = [prompt(10 * i + j, length) for j, length in enumerate(lengths)]
        print(say("round %d" % i, prompts, tokens, ENDS + ("tokens", "content")), flush=True)

    waiting = queue.Queue()
    said = {}
    for i, (length, tokens) in enumerate([(5, 12), (30, 8), (400, 2), (1, 1), (64, 10), (90, 6)]):
        waiting.put((i, length, tokens))

    def client():
        while True:
            try:
                i, length, tokens = waiting.get_nowait()
            except queue.Empty:
                return
            said[i] = say("together %d" % i, [prompt(i, length)], tokens, ENDS)

    threads = [threading.Thread(target=client) for _ in range(int(clients))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for i in sorted(said):
        print(said[i])
    return 1 if failed or len(said) != 6 else 0


def forever(path, clients, lengths=(4, 16, 40, 120, 400), tokens=(8, 32, 64, 128)):
    parent = os.getppid()

    def client(seed):
        choose = random.Random(seed)
        while True:
            length = choose.choice(lengths)
            try:
                completion(path, [prompt(choose.randrange(1000), length)], choose.choice(tokens))
            except (OSError, http.client.HTTPException, ValueError):
                os._exit(0)  # the server has ended

    for seed in range(int(clients)):
        threading.Thread(target=client, args=(seed,), daemon=True).start()
    while os.getppid() == parent:
        time.sleep(0.5)
    return 0


def slowly(path, clients):
    return forever(path, clients, (2, 4, 8), (4, 8))


if __name__ == "__main__":
    socket_path, what, number = sys.argv[1:]
    sys.exit({"ready": ready, "answers": answers, "forever": forever, "slowly": slowly}[what](socket_path, number))

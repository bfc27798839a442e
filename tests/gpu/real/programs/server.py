# SPDX-License-Identifier: BSD-2-Clause
"""A server of a language model over HTTP: POST gives texts' tokens,
the answer has the likeliest next one of each.

Each connection has a thread. `idle_server.py` and `busy_server.py` run it.
"""
import http.server
import threading

import torch
from torch import nn

WORDS, WIDTH, LAYERS, LENGTH, TEXTS = 32000, 2048, 8, 256, 32


class LanguageModel(nn.Module):
    def __init__(self):
        super().__init__()
        layer = nn.TransformerEncoderLayer(WIDTH, 16, 4 * WIDTH, batch_first=True, norm_first=True)
        self.words = nn.Embedding(WORDS, WIDTH)
        self.layers = nn.TransformerEncoder(layer, LAYERS, enable_nested_tensor=False)
        self.head = nn.Linear(WIDTH, WORDS)

    def forward(self, tokens):
        return self.head(self.layers(self.words(tokens))[:, -1]).argmax(-1)


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Answers)
        self.model = LanguageModel().to("cuda", torch.bfloat16).eval()
        self.counted, self.answered = threading.Lock(), 0
        for _ in range(3):
            self.next_tokens(torch.randint(0, WORDS, (TEXTS, LENGTH), dtype=torch.int32))

    @torch.no_grad()
    def next_tokens(self, tokens):
        return self.model(tokens.pin_memory().to("cuda", non_blocking=True)).cpu()

    def serve(self, loop):
        """Until the loop is over."""
        serving = threading.Thread(target=self.serve_forever, name="server")
        serving.start()
        loop.wait()
        self.shutdown()
        serving.join()


class Answers(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = bytearray(self.rfile.read(int(self.headers["Content-Length"])))
        tokens = self.server.next_tokens(torch.frombuffer(body, dtype=torch.int32).view(-1, LENGTH))
        answer = tokens.numpy().tobytes()
        self.send_response(200)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)
        with self.server.counted:
            self.server.answered += 1

    def log_message(self, format, *arguments):  # pylint: disable=redefined-builtin
        pass

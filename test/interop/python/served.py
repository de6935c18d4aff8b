"""A running `dirspace serve` for the tests of clients."""

import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

PROJECT = pathlib.Path(__file__).parents[3]
CLI = os.environ.get("DIRSPACE_CLI", str(PROJECT / "dist" / "cli" / "main.js"))


class Served(unittest.TestCase):
    """Each test has a server and an empty catalog of its own."""

    def setUp(self):
        self.root = tempfile.mkdtemp(prefix="dirspace-interop-")
        self.addCleanup(shutil.rmtree, self.root)
        self.server = subprocess.Popen(
            ["node", CLI, "serve", "--root", self.root, "--create", "--port", "0", "--json"],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self.addCleanup(self.stop)
        self.url = json.loads(self.server.stdout.readline())["url"]

    def stop(self):
        self.server.terminate()
        self.assertEqual(self.server.wait(timeout=30), 0)
        self.server.stdout.close()

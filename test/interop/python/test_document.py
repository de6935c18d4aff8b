"""schemathesis makes requests up from /openapi.json, for every route: each answer is one that the document lists."""

import os
import pathlib
import shutil
import subprocess
import sys
import unittest

from served import Served

PROGRAM = shutil.which("schemathesis", path=str(pathlib.Path(sys.executable).parent))
CHECKS = [
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_headers_conformance",
    "response_schema_conformance",
]


@unittest.skipIf(PROGRAM is None, "schemathesis is not installed")
class Document(Served):
    def run_on(self, *options):
        command = [PROGRAM, "run", f"{self.url}/openapi.json", "--phases", "coverage,fuzzing"]
        command += ["--checks", ",".join(CHECKS), "--max-examples", "5", *options]
        here = str(pathlib.Path(__file__).parent)
        env = {**os.environ, "SCHEMATHESIS_HOOKS": "document_bodies", "PYTHONPATH": here}
        ran = subprocess.run(command, env=env, capture_output=True, text=True)
        self.assertEqual(ran.returncode, 0, ran.stdout[-8000:])
        return ran.stdout

    def test_every_route(self):
        self.assertRegex(self.run_on(), r"Tested: \d\d")

    def test_routes_of_blobs_and_of_inserts_in_parts(self):
        said = self.run_on("--include-path-regex", "/blob/|/multipart_write/")
        self.assertIn("Tested: 5", said)

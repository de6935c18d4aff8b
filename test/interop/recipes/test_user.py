import json
import subprocess
from urllib.request import Request, urlopen

import lancedb
import pytest

SERVE = "npx dirspace serve --memory --seed seed.json --reset-route --port 0 --json --stop-with-stdin"


@pytest.fixture(scope="session")
def server():
    """One for all tests; it ends with its standard input, so also where pytest is killed."""
    process = subprocess.Popen(SERVE.split(), stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    yield json.loads(process.stdout.readline())["url"]
    process.stdin.close()
    process.wait(timeout=30)


@pytest.fixture
def db(server):
    """Each test finds the seed."""
    urlopen(Request(f"{server}/v1/dirspace/reset", method="POST"))
    return lancedb.connect("db://test", api_key="any", host_override=server)


def test_adds_a_user(db):
    users = db.open_table("user", namespace_path=["prod"])
    users.add([{"id": 3, "name": "Alan"}])
    assert users.count_rows() == 3


def test_begins_anew(db):
    assert db.open_table("user", namespace_path=["prod"]).count_rows() == 2


def test_tries_again(db, server):
    faults = [{"operation": "CountTableRows", "kind": "unavailable", "times": 1}]
    headers = {"content-type": "application/json"}
    urlopen(Request(f"{server}/v1/dirspace/faults", json.dumps(faults).encode(), headers))
    assert db.open_table("user", namespace_path=["prod"]).count_rows() == 2
    journal = json.load(urlopen(f"{server}/v1/dirspace/requests"))["requests"]
    counts = [one["status"] for one in journal if one.get("operation") == "CountTableRows"]
    assert counts == [503, 200]

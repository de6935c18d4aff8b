"""What the scripts of all engines share: the server that they talk to, and the counts that they print."""

import json
import sys
import threading
import time
import traceback
import urllib.error
import urllib.request

URI, MODE = sys.argv[1], sys.argv[2]
MANAGED = MODE == "managed"
PROPERTIES = {"uri": URI}


def client():
    import lance_namespace

    return lance_namespace.connect("rest", PROPERTIES)


def call(path, body=None, method="POST"):
    """Answers the status and the JSON of a request of the protocol."""
    data = None if method == "GET" else json.dumps(body or {}).encode()
    request = urllib.request.Request(
        f"{URI}/v1/{path}", data=data, method=method, headers={"content-type": "application/json"}
    )
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            text = answer.read()
            return answer.status, json.loads(text) if text else {}
    except urllib.error.HTTPError as error:
        return error.code, json.loads(error.read() or b"{}")


def tables(namespace, include_declared=True):
    flag = "" if include_declared else "?include_declared=false"
    status, answer = call(f"namespace/{namespace}/table/list{flag}", method="GET")
    assert status == 200, answer
    return answer["tables"]


def describe(name, **request):
    return call(f"table/{name}/describe?check_declared=true", request)


def rename(name, new):
    status, answer = call(f"table/{name}/rename", {"new_table_name": new})
    assert status == 200, answer


def drop(name):
    status, answer = call(f"table/{name}/drop")
    assert status == 200, answer


def namespace(name):
    status, answer = call(f"namespace/{name}/create")
    assert status in (200, 201), answer


def step(name, run):
    """Runs one step, and prints how it went."""
    begun = time.time()
    try:
        note = run()
    except BaseException as error:  # noqa: B902: an engine may raise anything
        what = " ".join(str(error).split())[:400] or type(error).__name__
        print(f"not ok {name}: {what}", flush=True)
        traceback.print_exc(limit=6, file=sys.stderr)
        return
    print(f"ok {name} ({time.time() - begun:.1f} s){'' if note is None else ': ' + str(note)}", flush=True)


def equal(found, wanted, what="value"):
    assert found == wanted, f"{what} is {found!r}, not {wanted!r}"


def together(count, work):
    """Runs work(0) to work(count - 1) at once; answers all that they answered."""
    answers, errors = [], []

    def run(at):
        try:
            answers.extend(work(at))
        except BaseException as error:  # noqa: B902
            errors.append(error)

    threads = [threading.Thread(target=run, args=(at,)) for at in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
    return answers

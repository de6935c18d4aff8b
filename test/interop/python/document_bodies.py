"""Hooks of schemathesis: bodies of Arrow data are the bytes that it makes up, which are hardly ever Arrow."""

import schemathesis


@schemathesis.serializer("application/vnd.apache.arrow.stream")
def arrow_stream(_context, value):
    return value if isinstance(value, bytes) else str(value).encode()

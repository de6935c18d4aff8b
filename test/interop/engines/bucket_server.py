"""A stand-in for S3 on this machine, with one bucket: prints its address, and ends with its input."""

import sys

import boto3
from moto.server import ThreadedMotoServer

server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
server.start()
host, port = server.get_host_and_port()
address = f"http://{host}:{port}"
key = {"aws_access_key_id": "interop", "aws_secret_access_key": "interop", "region_name": "us-east-1"}
boto3.client("s3", endpoint_url=address, **key).create_bucket(Bucket="lake")
print(f"bucket {address}", flush=True)
sys.stdin.read()
server.stop()

use serde_json::{json, Value};
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

const SERVE: &str =
    "dirspace serve --memory --seed seed.json --reset-route --port 0 --json --stop-with-stdin";

/// The server ends with its standard input, so also where the test is killed.
struct Server {
    child: Child,
    url: String,
}

impl Server {
    fn start() -> Server {
        let mut child = Command::new("npx")
            .args(SERVE.split(' '))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let out = child.stdout.as_mut().unwrap();
        BufReader::new(out).read_line(&mut line).unwrap();
        let said: Value = serde_json::from_str(&line).unwrap();
        let url = said["url"].as_str().unwrap().to_string();
        Server { child, url }
    }

    fn post(&self, path: &str, body: Value) -> ureq::http::Response<ureq::Body> {
        ureq::post(format!("{}{path}", self.url)).send_json(body).unwrap()
    }

    fn count(&self) -> i64 {
        let mut answer = self.post("/v1/table/prod$user/count_rows", json!({}));
        answer.body_mut().read_json().unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        self.child.wait().unwrap();
    }
}

#[test]
fn deletes_a_user_and_begins_anew() {
    let server = Server::start();
    assert_eq!(server.count(), 2);
    server.post("/v1/table/prod$user/delete", json!({ "predicate": "name = 'Ada'" }));
    assert_eq!(server.count(), 1);
    server.post("/v1/dirspace/reset", json!(null));
    assert_eq!(server.count(), 2);
}

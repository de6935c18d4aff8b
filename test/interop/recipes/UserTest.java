import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class UserTest {
  private static final String SERVE =
      "npx dirspace serve --memory --seed seed.json --reset-route --port 0 --stop-with-stdin";
  private static final HttpClient CLIENT = HttpClient.newHttpClient();
  private static Process server;
  private static String url;

  @BeforeAll
  static void start() throws Exception {
    server = new ProcessBuilder(SERVE.split(" ")).start();
    var said = new BufferedReader(new InputStreamReader(server.getInputStream()));
    url = said.readLine().replace("Serving at ", "");
  }

  @AfterAll
  static void stop() throws Exception {
    // The server ends with its standard input, so also where the JVM is killed.
    server.getOutputStream().close();
    server.waitFor();
  }

  @BeforeEach
  void reset() throws Exception {
    post("/v1/dirspace/reset", "");
  }

  private static String post(String path, String json) throws Exception {
    var request =
        HttpRequest.newBuilder(URI.create(url + path))
            .header("content-type", "application/json")
            .POST(BodyPublishers.ofString(json))
            .build();
    return CLIENT.send(request, BodyHandlers.ofString()).body();
  }

  @Test
  void deletesAUser() throws Exception {
    post("/v1/table/prod$user/delete", "{\"predicate\": \"name = 'Ada'\"}");
    assertEquals("1", post("/v1/table/prod$user/count_rows", "{}"));
  }

  @Test
  void beginsAnew() throws Exception {
    assertEquals("2", post("/v1/table/prod$user/count_rows", "{}"));
  }
}

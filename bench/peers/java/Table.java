import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;

/** The table `tails` in ClickHouse. */
final class Table {
  private final HttpClient http = HttpClient.newHttpClient();
  private final URI insert;

  Table(String url, String database) {
    insert =
        URI.create(url + "/?database=" + database + "&query=INSERT%20INTO%20tails%20FORMAT%20RowBinary");
  }

  void insert(RowBinary rows) throws Exception {
    HttpRequest request =
        HttpRequest.newBuilder(insert)
            .POST(HttpRequest.BodyPublishers.ofByteArray(rows.toByteArray()))
            .build();
    HttpResponse<String> answer = http.send(request, HttpResponse.BodyHandlers.ofString());
    if (answer.statusCode() != 200) throw new IllegalStateException(answer.body());
  }
}

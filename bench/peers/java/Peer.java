import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.tdunning.math.stats.Centroid;
import com.tdunning.math.stats.MergingDigest;
import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Properties;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/**
 * The service that a Java team would write with care: one consumer thread, a streaming parser over
 * the bytes of each message, one map look-up an event, merging digests, RowBinary once a second,
 * offsets committed after the rows are stored.
 */
public final class Peer {
  private static final long FLUSH_NANOS = 1_000_000_000L;

  public static void main(String[] args) throws Exception {
    BufferedReader tasks = new BufferedReader(new InputStreamReader(System.in));
    for (String line = tasks.readLine(); line != null; line = tasks.readLine()) {
      String[] task = line.split(" ");
      new Peer(args[0], args[1], task[2]).ingest(task[0], task[1], Long.parseLong(task[3]));
      System.out.println("stored");
    }
  }

  private final String broker;
  private final URI insert;
  private final HttpClient http = HttpClient.newHttpClient();
  private final JsonFactory json = new JsonFactory();
  private final Map<Key, Tails> tails = new HashMap<>();
  private final Map<String, Integer> stageIds = new HashMap<>();
  private String[] stageNames = new String[16];
  private double[] stageMs = new double[16];
  private int[] stageOf = new int[16];
  private long seen = 0;

  private Peer(String broker, String url, String database) {
    this.broker = broker;
    this.insert =
        URI.create(url + "/?database=" + database + "&query=INSERT%20INTO%20tails%20FORMAT%20RowBinary");
  }

  private void ingest(String topic, String group, long events) throws Exception {
    Properties settings = new Properties();
    settings.put("bootstrap.servers", broker);
    settings.put("group.id", group);
    settings.put("auto.offset.reset", "earliest");
    settings.put("enable.auto.commit", "false");
    settings.put("max.poll.records", "100000");
    settings.put("fetch.min.bytes", "1048576");
    settings.put("fetch.max.wait.ms", "100");
    settings.put("max.partition.fetch.bytes", "4194304");
    settings.put("receive.buffer.bytes", "1048576");
    try (KafkaConsumer<byte[], byte[]> consumer =
        new KafkaConsumer<>(settings, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
      consumer.subscribe(List.of(topic));
      long flushed = System.nanoTime();
      while (seen < events) {
        ConsumerRecords<byte[], byte[]> records = consumer.poll(Duration.ofMillis(100));
        for (ConsumerRecord<byte[], byte[]> record : records) read(record.value());
        if (seen < events && System.nanoTime() - flushed < FLUSH_NANOS) continue;
        flush();
        consumer.commitSync();
        flushed = System.nanoTime();
      }
    }
  }

  private void read(byte[] message) throws Exception {
    try (JsonParser parser = json.createParser(message)) {
      while (parser.nextToken() != null) event(parser);
    }
  }

  private void event(JsonParser parser) throws Exception {
    long ts = 0;
    String model = "";
    String version = "";
    String requestType = "";
    String region = "";
    boolean coldStart = false;
    double totalMs = Double.NaN;
    int count = 0;
    while (parser.nextToken() != JsonToken.END_OBJECT) {
      String name = parser.currentName();
      parser.nextToken();
      switch (name) {
        case "ts" -> ts = parser.getLongValue();
        case "model" -> model = parser.getText();
        case "version" -> version = parser.getText();
        case "request_type" -> requestType = parser.getText();
        case "region" -> region = parser.getText();
        case "cold_start" -> coldStart = parser.getBooleanValue();
        case "total_ms" -> totalMs = parser.getDoubleValue();
        case "stages_ms" -> {
          while (parser.nextToken() != JsonToken.END_OBJECT) {
            int stage = stageId(parser.currentName());
            parser.nextToken();
            if (count == stageMs.length) {
              stageMs = java.util.Arrays.copyOf(stageMs, 2 * count);
              stageOf = java.util.Arrays.copyOf(stageOf, 2 * count);
            }
            stageOf[count] = stage;
            stageMs[count++] = parser.getDoubleValue();
          }
        }
        default -> parser.skipChildren();
      }
    }
    Key key = new Key(ts / 10_000 * 10, model, version, requestType, region, coldStart);
    Tails found = tails.get(key);
    if (found == null) tails.put(key, found = new Tails());
    for (int i = 0; i < count; i++) found.add(stageOf[i], stageMs[i]);
    found.add(stageId("total"), totalMs);
    seen++;
  }

  private int stageId(String name) {
    Integer id = stageIds.get(name);
    if (id != null) return id;
    int next = stageIds.size();
    if (next == stageNames.length) stageNames = java.util.Arrays.copyOf(stageNames, 2 * next);
    stageNames[next] = name;
    stageIds.put(name, next);
    return next;
  }

  private void flush() throws Exception {
    if (tails.isEmpty()) return;
    RowBinary rows = new RowBinary();
    for (Map.Entry<Key, Tails> entry : tails.entrySet()) {
      Tail[] byStage = entry.getValue().byStage;
      for (int stage = 0; stage < byStage.length; stage++) {
        if (byStage[stage] != null) row(rows, entry.getKey(), stageNames[stage], byStage[stage]);
      }
    }
    tails.clear();
    HttpRequest request =
        HttpRequest.newBuilder(insert).POST(HttpRequest.BodyPublishers.ofByteArray(rows.toByteArray())).build();
    HttpResponse<String> answer = http.send(request, HttpResponse.BodyHandlers.ofString());
    if (answer.statusCode() != 200) throw new IllegalStateException(answer.body());
  }

  private static void row(RowBinary rows, Key key, String stage, Tail tail) {
    rows.int32((int) key.windowStart);
    rows.text(key.model);
    rows.text(key.version);
    rows.text(key.requestType);
    rows.text(key.region);
    rows.write(key.coldStart ? 1 : 0);
    rows.text(stage);
    rows.int64(tail.requests);
    rows.int64(Double.doubleToRawLongBits(tail.sumMs));
    rows.int64(Double.doubleToRawLongBits(tail.minMs));
    rows.int64(Double.doubleToRawLongBits(tail.maxMs));
    tail.digest.compress();
    rows.length(tail.digest.centroidCount());
    for (Centroid centroid : tail.digest.centroids()) {
      rows.int32(Float.floatToRawIntBits((float) centroid.mean()));
    }
    rows.length(tail.digest.centroidCount());
    for (Centroid centroid : tail.digest.centroids()) rows.int32(centroid.count());
  }

  private static final class Key {
    final long windowStart;
    final String model;
    final String version;
    final String requestType;
    final String region;
    final boolean coldStart;
    private final int hash;

    Key(long windowStart, String model, String version, String type, String region, boolean cold) {
      this.windowStart = windowStart;
      this.model = model;
      this.version = version;
      this.requestType = type;
      this.region = region;
      this.coldStart = cold;
      int h = Long.hashCode(windowStart);
      h = 31 * h + model.hashCode();
      h = 31 * h + version.hashCode();
      h = 31 * h + type.hashCode();
      h = 31 * h + region.hashCode();
      this.hash = 31 * h + Boolean.hashCode(cold);
    }

    @Override
    public int hashCode() {
      return hash;
    }

    @Override
    public boolean equals(Object other) {
      return other instanceof Key that
          && hash == that.hash
          && windowStart == that.windowStart
          && coldStart == that.coldStart
          && Objects.equals(model, that.model)
          && Objects.equals(version, that.version)
          && Objects.equals(requestType, that.requestType)
          && Objects.equals(region, that.region);
    }
  }

  private static final class Tails {
    Tail[] byStage = new Tail[16];

    void add(int stage, double ms) {
      if (stage >= byStage.length) byStage = java.util.Arrays.copyOf(byStage, 2 * stage);
      Tail tail = byStage[stage];
      if (tail == null) byStage[stage] = tail = new Tail();
      tail.requests++;
      tail.sumMs += ms;
      tail.minMs = Math.min(tail.minMs, ms);
      tail.maxMs = Math.max(tail.maxMs, ms);
      tail.digest.add(ms);
    }
  }

  private static final class Tail {
    long requests = 0;
    double sumMs = 0;
    double minMs = Double.POSITIVE_INFINITY;
    double maxMs = Double.NEGATIVE_INFINITY;
    final MergingDigest digest = new MergingDigest(100);
  }

  private static final class RowBinary extends ByteArrayOutputStream {
    RowBinary() {
      super(1 << 20);
    }

    void int32(int value) {
      for (int shift = 0; shift < 32; shift += 8) write(value >>> shift);
    }

    void int64(long value) {
      for (int shift = 0; shift < 64; shift += 8) write((int) (value >>> shift));
    }

    void length(int value) {
      while (value >= 0x80) {
        write(value & 0x7f | 0x80);
        value >>>= 7;
      }
      write(value);
    }

    void text(String value) {
      byte[] bytes = value.getBytes(StandardCharsets.UTF_8);
      length(bytes.length);
      write(bytes, 0, bytes.length);
    }
  }
}

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import java.io.BufferedReader;
import java.io.InputStreamReader;
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
      new Peer(args[0], new Table(args[1], task[2])).ingest(task[0], task[1], Long.parseLong(task[3]));
      System.out.println("stored");
    }
  }

  private final String broker;
  private final Table table;
  private final JsonFactory json = new JsonFactory();
  private final Map<Key, Tails> tails = new HashMap<>();
  private final Stages stages = new Stages();
  private final int totalStage = stages.id("total");
  private final Event event = new Event();
  private long seen = 0;

  private Peer(String broker, Table table) {
    this.broker = broker;
    this.table = table;
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
      while (parser.nextToken() != null) {
        event.read(parser, stages);
        Key key = new Key(event);
        Tails found = tails.get(key);
        if (found == null) tails.put(key, found = new Tails());
        event.addTo(found, totalStage);
        seen++;
      }
    }
  }

  private void flush() throws Exception {
    if (tails.isEmpty()) return;
    RowBinary rows = new RowBinary();
    for (var entry : tails.entrySet()) {
      rows.rows(entry.getKey().windowStart, entry.getKey().series(), entry.getValue(), stages);
    }
    tails.clear();
    table.insert(rows);
  }

  /** Its hash is worked out once. */
  private static final class Key {
    final long windowStart;
    final String model;
    final String version;
    final String requestType;
    final String region;
    final boolean coldStart;
    private final int hash;

    Key(Event event) {
      windowStart = event.endMs() / 10_000 * 10;
      model = event.model;
      version = event.version;
      requestType = event.requestType;
      region = event.region;
      coldStart = event.coldStart;
      int h = Long.hashCode(windowStart);
      h = 31 * h + model.hashCode();
      h = 31 * h + version.hashCode();
      h = 31 * h + requestType.hashCode();
      h = 31 * h + region.hashCode();
      hash = 31 * h + Boolean.hashCode(coldStart);
    }

    Series series() {
      return new Series(model, version, requestType, region, coldStart);
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
}

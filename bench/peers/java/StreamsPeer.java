import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.TimeWindows;
import org.apache.kafka.streams.kstream.Windowed;
import org.apache.kafka.streams.processor.PunctuationType;
import org.apache.kafka.streams.processor.api.Processor;
import org.apache.kafka.streams.processor.api.ProcessorContext;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.state.Stores;

/**
 * The same in the DSL of Kafka Streams: events by series, windows of ten seconds in memory, one
 * aggregate of all stages a series and window, what changed written once a second. Series come from
 * many partitions, so events go through a topic of their own on the way, as `groupByKey` has it.
 */
public final class StreamsPeer {
  private static final Duration WINDOW = Duration.ofSeconds(10);
  private static final Duration GRACE = Duration.ofHours(24);
  private static final Duration FLUSH = Duration.ofMillis(200);

  public static void main(String[] args) throws Exception {
    BufferedReader tasks = new BufferedReader(new InputStreamReader(System.in));
    for (String line = tasks.readLine(); line != null; line = tasks.readLine()) {
      String[] task = line.split(" ");
      Table table = new Table(args[1], task[2]);
      new StreamsPeer(table, Long.parseLong(task[3])).run(args[0], task[0], task[1]);
      System.out.println("stored");
    }
  }

  private final Table table;
  private final long events;
  private final JsonFactory json = new JsonFactory();
  private final Stages stages = new Stages();
  private final int totalStage = stages.id("total");
  private final AtomicLong counted = new AtomicLong();
  private final CountDownLatch stored = new CountDownLatch(1);

  private StreamsPeer(Table table, long events) {
    this.table = table;
    this.events = events;
  }

  private void run(String broker, String topic, String group) throws Exception {
    Path state = Files.createTempDirectory("streams");
    Properties settings = new Properties();
    settings.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, broker);
    settings.put(StreamsConfig.APPLICATION_ID_CONFIG, group);
    settings.put(StreamsConfig.STATE_DIR_CONFIG, state.toString());
    settings.put(StreamsConfig.NUM_STREAM_THREADS_CONFIG, 1);
    settings.put(StreamsConfig.COMMIT_INTERVAL_MS_CONFIG, 1_000);
    settings.put(StreamsConfig.STATESTORE_CACHE_MAX_BYTES_CONFIG, 256 * 1024 * 1024);
    settings.put("consumer.auto.offset.reset", "earliest");
    settings.put("consumer.max.poll.records", 20_000);
    settings.put("consumer.max.partition.fetch.bytes", 4 * 1024 * 1024);
    settings.put("producer.batch.size", 256 * 1024);
    settings.put("producer.linger.ms", 50);
    settings.put("producer.compression.type", "lz4");
    KafkaStreams streams = new KafkaStreams(topology(topic), settings);
    streams.setUncaughtExceptionHandler(
        error -> {
          error.printStackTrace();
          System.exit(1);
          return null;
        });
    streams.start();
    stored.await();
    streams.close();
    streams.cleanUp();
    Files.deleteIfExists(state);
  }

  private Topology topology(String topic) {
    StreamsBuilder builder = new StreamsBuilder();
    builder
        .stream(topic, Consumed.with(Serdes.ByteArray(), Serdes.ByteArray()))
        .process(Reader::new)
        .groupByKey(Grouped.with(StreamsSerdes.series(), StreamsSerdes.event(stages)))
        .windowedBy(TimeWindows.ofSizeAndGrace(WINDOW, GRACE))
        .aggregate(
            Tails::new,
            (series, event, tails) -> {
              event.addTo(tails, totalStage);
              return tails;
            },
            Materialized.<Series, Tails>as(
                    Stores.inMemoryWindowStore("tails", WINDOW.plus(GRACE), WINDOW, false))
                .withKeySerde(StreamsSerdes.series())
                .withValueSerde(StreamsSerdes.tails(stages))
                .withCachingEnabled())
        .toStream()
        .process(Sink::new);
    Properties optimized = new Properties();
    optimized.put(StreamsConfig.TOPOLOGY_OPTIMIZATION_CONFIG, StreamsConfig.OPTIMIZE);
    return builder.build(optimized);
  }

  /** Events of a message, each at the time its request ended. */
  private final class Reader implements Processor<byte[], byte[], Series, Event> {
    private final Event event = new Event();
    private ProcessorContext<Series, Event> context;

    @Override
    public void init(ProcessorContext<Series, Event> given) {
      context = given;
    }

    @Override
    public void process(Record<byte[], byte[]> message) {
      try (JsonParser parser = json.createParser(message.value())) {
        while (parser.nextToken() != null) {
          event.read(parser, stages);
          context.forward(new Record<>(event.series(), event, event.endMs()));
        }
      } catch (IOException error) {
        throw new UncheckedIOException(error);
      }
    }
  }

  /** The latest of each window that changed, written now and then; the table keeps the last. */
  private final class Sink implements Processor<Windowed<Series>, Tails, Void, Void> {
    private final Map<Windowed<Series>, Tails> changed = new HashMap<>();
    private final Map<Windowed<Series>, Long> requests = new HashMap<>();

    @Override
    public void init(ProcessorContext<Void, Void> context) {
      context.schedule(FLUSH, PunctuationType.WALL_CLOCK_TIME, now -> flush());
    }

    @Override
    public void process(Record<Windowed<Series>, Tails> record) {
      changed.put(record.key(), record.value());
    }

    private void flush() {
      if (changed.isEmpty()) return;
      RowBinary rows = new RowBinary();
      changed.forEach(
          (key, tails) -> {
            rows.rows(key.window().start() / 1000, key.key(), tails, stages);
            long now = tails.byStage[totalStage].requests;
            Long before = requests.put(key, now);
            counted.addAndGet(now - (before == null ? 0 : before));
          });
      changed.clear();
      try {
        table.insert(rows);
      } catch (Exception error) {
        throw new IllegalStateException(error);
      }
      if (counted.get() >= events) stored.countDown();
    }
  }
}

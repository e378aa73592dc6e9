import com.tdunning.math.stats.MergingDigest;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import org.apache.kafka.common.serialization.Serde;
import org.apache.kafka.common.serialization.Serdes;

/** How series, events and tails lie in topics and stores: as few bytes as plain code makes. */
final class StreamsSerdes {
  private interface Writer<T> {
    void write(T value, DataOutputStream out) throws IOException;
  }

  private interface Reader<T> {
    T read(DataInputStream in) throws IOException;
  }

  static Serde<Series> series() {
    return serde(
        (series, out) -> {
          out.writeUTF(series.model());
          out.writeUTF(series.version());
          out.writeUTF(series.requestType());
          out.writeUTF(series.region());
          out.writeBoolean(series.coldStart());
        },
        in ->
            new Series(in.readUTF(), in.readUTF(), in.readUTF(), in.readUTF(), in.readBoolean()));
  }

  /** What is not in the key and the timestamp. */
  static Serde<Event> event(Stages stages) {
    return serde(
        (event, out) -> {
          out.writeDouble(event.totalMs);
          out.writeShort(event.count);
          for (int i = 0; i < event.count; i++) {
            out.writeUTF(stages.name(event.stageOf[i]));
            out.writeDouble(event.stageMs[i]);
          }
        },
        in -> {
          Event event = new Event();
          event.totalMs = in.readDouble();
          int count = in.readShort();
          for (int i = 0; i < count; i++) event.add(stages.id(in.readUTF()), in.readDouble());
          return event;
        });
  }

  static Serde<Tails> tails(Stages stages) {
    return serde(
        (tails, out) -> {
          for (int stage = 0; stage < tails.byStage.length; stage++) {
            Tails.Tail tail = tails.byStage[stage];
            if (tail == null) continue;
            out.writeUTF(stages.name(stage));
            out.writeLong(tail.requests);
            out.writeDouble(tail.sumMs);
            out.writeDouble(tail.minMs);
            out.writeDouble(tail.maxMs);
            ByteBuffer bytes = ByteBuffer.allocate(tail.digest.smallByteSize());
            tail.digest.asSmallBytes(bytes);
            out.writeShort(bytes.position());
            out.write(bytes.array(), 0, bytes.position());
          }
        },
        in -> {
          Tails tails = new Tails();
          while (in.available() > 0) {
            Tails.Tail tail = tails.at(stages.id(in.readUTF()));
            tail.requests = in.readLong();
            tail.sumMs = in.readDouble();
            tail.minMs = in.readDouble();
            tail.maxMs = in.readDouble();
            tail.digest = MergingDigest.fromBytes(ByteBuffer.wrap(in.readNBytes(in.readShort())));
          }
          return tails;
        });
  }

  private static <T> Serde<T> serde(Writer<T> writer, Reader<T> reader) {
    return Serdes.serdeFrom(
        (topic, value) -> {
          if (value == null) return null;
          ByteArrayOutputStream bytes = new ByteArrayOutputStream(512);
          try {
            writer.write(value, new DataOutputStream(bytes));
          } catch (IOException error) {
            throw new UncheckedIOException(error);
          }
          return bytes.toByteArray();
        },
        (topic, bytes) -> {
          if (bytes == null) return null;
          try {
            return reader.read(new DataInputStream(new ByteArrayInputStream(bytes)));
          } catch (IOException error) {
            throw new UncheckedIOException(error);
          }
        });
  }

  private StreamsSerdes() {}
}

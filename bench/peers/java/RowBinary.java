import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;

/** Rows of the table `tails` as ClickHouse reads them. */
final class RowBinary extends ByteArrayOutputStream {
  RowBinary() {
    super(1 << 20);
  }

  /** A row a stage of what a series had in a window that began at `windowStart`, epoch seconds. */
  void rows(long windowStart, Series series, Tails tails, Stages stages) {
    for (int stage = 0; stage < tails.byStage.length; stage++) {
      if (tails.byStage[stage] == null) continue;
      int32((int) windowStart);
      text(series.model());
      text(series.version());
      text(series.requestType());
      text(series.region());
      write(series.coldStart() ? 1 : 0);
      text(stages.name(stage));
      tail(tails.byStage[stage]);
    }
  }

  void int64(long value) {
    for (int shift = 0; shift < 64; shift += 8) write((int) (value >>> shift));
  }

  private void tail(Tails.Tail tail) {
    int64(tail.requests);
    int64(Double.doubleToRawLongBits(tail.sumMs));
    int64(Double.doubleToRawLongBits(tail.minMs));
    int64(Double.doubleToRawLongBits(tail.maxMs));
    tail.digest.compress();
    length(tail.digest.centroidCount());
    for (var centroid : tail.digest.centroids()) {
      int32(Float.floatToRawIntBits((float) centroid.mean()));
    }
    length(tail.digest.centroidCount());
    for (var centroid : tail.digest.centroids()) int32(centroid.count());
  }

  private void int32(int value) {
    for (int shift = 0; shift < 32; shift += 8) write(value >>> shift);
  }

  private void length(int value) {
    while (value >= 0x80) {
      write(value & 0x7f | 0x80);
      value >>>= 7;
    }
    write(value);
  }

  private void text(String value) {
    byte[] bytes = value.getBytes(StandardCharsets.UTF_8);
    length(bytes.length);
    write(bytes, 0, bytes.length);
  }
}

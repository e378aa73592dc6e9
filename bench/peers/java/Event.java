import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.util.Arrays;

/** A timing event. `read` makes the next one of the same object. */
final class Event {
  long ts;
  String model;
  String version;
  String requestType;
  String region;
  boolean coldStart;
  double totalMs;
  int count;
  int[] stageOf = new int[16];
  double[] stageMs = new double[16];

  Series series() {
    return new Series(model, version, requestType, region, coldStart);
  }

  /** When the request ended: its event time. */
  long endMs() {
    return (long) (ts + totalMs);
  }

  /** Reads the object that the parser stands at the beginning of. */
  void read(JsonParser parser, Stages stages) throws IOException {
    ts = 0;
    model = "";
    version = "";
    requestType = "";
    region = "";
    coldStart = false;
    totalMs = Double.NaN;
    count = 0;
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
            int stage = stages.id(parser.currentName());
            parser.nextToken();
            add(stage, parser.getDoubleValue());
          }
        }
        default -> parser.skipChildren();
      }
    }
  }

  void add(int stage, double ms) {
    if (count == stageMs.length) {
      stageMs = Arrays.copyOf(stageMs, 2 * count);
      stageOf = Arrays.copyOf(stageOf, 2 * count);
    }
    stageOf[count] = stage;
    stageMs[count++] = ms;
  }

  void addTo(Tails tails, int totalStage) {
    for (int i = 0; i < count; i++) tails.add(stageOf[i], stageMs[i]);
    tails.add(totalStage, totalMs);
  }
}

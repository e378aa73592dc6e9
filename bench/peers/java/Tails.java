import com.tdunning.math.stats.MergingDigest;
import java.util.Arrays;

/** What a series had in a window, stage by stage. */
final class Tails {
  Tail[] byStage = new Tail[16];

  void add(int stage, double ms) {
    at(stage).add(ms);
  }

  Tail at(int stage) {
    if (stage >= byStage.length) byStage = Arrays.copyOf(byStage, 2 * stage);
    Tail tail = byStage[stage];
    if (tail == null) byStage[stage] = tail = new Tail();
    return tail;
  }

  static final class Tail {
    long requests = 0;
    double sumMs = 0;
    double minMs = Double.POSITIVE_INFINITY;
    double maxMs = Double.NEGATIVE_INFINITY;
    MergingDigest digest = new MergingDigest(100);

    private void add(double ms) {
      requests++;
      sumMs += ms;
      minMs = Math.min(minMs, ms);
      maxMs = Math.max(maxMs, ms);
      digest.add(ms);
    }
  }
}

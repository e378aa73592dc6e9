import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;

/** Small numbers for the names of stages. */
final class Stages {
  private final Map<String, Integer> ids = new HashMap<>();
  private String[] names = new String[16];

  int id(String name) {
    Integer id = ids.get(name);
    if (id != null) return id;
    int next = ids.size();
    if (next == names.length) names = Arrays.copyOf(names, 2 * next);
    names[next] = name;
    ids.put(name, next);
    return next;
  }

  String name(int id) {
    return names[id];
  }
}

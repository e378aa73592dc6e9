/**
 * Identity of a partition's log: `<cluster id>/<topic id>`. The log of a deleted and recreated topic, or of a
 * topic in another cluster, has another one. A log that was truncated goes on under the next generation:
 * `<cluster id>/<topic id>#2`. A file has ''.
 *
 * A broker before Kafka 2.8 has no topic ids (KIP-516): all logs of a topic name are then `<cluster id>/`.
 */
export function logIdOf(clusterId: string, topicId: string): string {
  return `${clusterId}/${topicId}`;
}

/** True if the broker gives ids to topics. */
export function hasTopicId(logId: string): boolean {
  return !logId.endsWith('/');
}

export function clusterOf(logId: string): string {
  return logId.slice(0, Math.max(0, logId.indexOf('/')));
}

const GENERATION = '#';

/** Generation of a log, from 1; undefined for an id that is of another log. */
export function generationOf(logId: string, of: string): number | undefined {
  if (logId === of) return 1;
  if (!logId.startsWith(`${of}${GENERATION}`)) return undefined;
  return Number(logId.slice(of.length + GENERATION.length));
}

/** The id that a log had before it was truncated. */
export function firstIdOf(logId: string): string {
  return logId.split(GENERATION, 1)[0] ?? '';
}

/** The id that a log has after it was truncated. */
export function truncatedId(logId: string): string {
  const [name = '', generation = '1'] = logId.split(GENERATION);
  return withGeneration(name, Number(generation) + 1);
}

export function withGeneration(logId: string, generation: number): string {
  return generation === 1 ? logId : `${logId}${GENERATION}${generation}`;
}

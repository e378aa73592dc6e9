/** What happens to a cluster of three brokers and to its logins, in this order. */
export const clusterFaults = [
  'rolling-restart',
  'kill-coordinator',
  'leaderless-topic',
  'leaderless-own-partition',
  'quota',
  'rolling-members',
  'no-tokens',
] as const;

export type ClusterFault = (typeof clusterFaults)[number];

/** Longest time without a stored chunk that a fault may cost; no promise for the others. */
export const allowedPauseMs: Readonly<Partial<Record<ClusterFault, number>>> = {
  'rolling-restart': 9_000,
  'kill-coordinator': 12_000,
  'leaderless-topic': 9_000,
  // Of the other partitions: nothing is written to the one meanwhile.
  'leaderless-own-partition': 9_000,
  'rolling-members': 9_000,
};

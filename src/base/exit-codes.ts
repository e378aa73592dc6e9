/** Exit codes of every command, after sysexits(3). Documented in docs/reference/cli.md. */
export const exitCodes = {
  ok: 0,
  failed: 1,
  /** Anomalies, or a failed verdict, were found. */
  found: 2,
  usage: 64,
  unavailable: 69,
  internal: 70,
  config: 78,
  /** A signal ended a command that only reads. */
  interrupted: 130,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

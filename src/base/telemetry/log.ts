import { type Logger, pino } from 'pino';
import { knownSecrets } from './known-secrets.ts';

export type { Logger };

/**
 * Logs a JSON line per change of state, never per event, to standard error: standard output belongs to a
 * command's results. Secrets are masked, since servers quote what they refuse.
 *
 * @param fd file descriptor
 */
export function createLog({
  level,
  fd = 2,
}: {
  readonly level: string;
  readonly fd?: number;
}): Logger {
  const destination = pino.destination({ dest: fd, sync: true });
  return pino(
    { level, base: { app: 'tailmark' }, timestamp: pino.stdTimeFunctions.isoTime },
    { write: (line: string) => destination.write(knownSecrets.hide(line)) },
  );
}

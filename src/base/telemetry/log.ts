import { type DestinationStream, type Logger, pino } from 'pino';
import { knownSecrets } from './known-secrets.ts';

export type { Logger };

export interface LogOptions {
  /** @default {'info'} */
  readonly level?: string;
  /** File descriptor. Standard output belongs to a command's results. @default {2} */
  readonly fd?: number;
}

/** Logs a JSON line per change of state, never per event, to standard error; without secrets. */
export function createLog(options: LogOptions = {}): Logger {
  const { level = 'info', fd = 2 } = options;
  return pino(
    { level, base: { app: 'tailmark' }, timestamp: pino.stdTimeFunctions.isoTime },
    withoutSecrets(pino.destination({ dest: fd, sync: true })),
  );
}

/** Masks secrets: servers quote what they refuse, and their responses are logged. */
function withoutSecrets(destination: DestinationStream): DestinationStream {
  return { write: (line) => destination.write(knownSecrets.hide(line)) };
}

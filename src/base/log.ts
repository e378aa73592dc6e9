import { type Logger, pino } from 'pino';

export type { Logger };

export interface LogOptions {
  /** @default {'info'} */
  readonly level?: string;
  /** File descriptor. Standard output belongs to a command's results. @default {2} */
  readonly fd?: number;
}

/** One JSON line per change of state, never one per event, on standard error. */
export function createLog(options: LogOptions = {}): Logger {
  const { level = 'info', fd = 2 } = options;
  return pino(
    { level, base: { app: 'tailmark' }, timestamp: pino.stdTimeFunctions.isoTime },
    pino.destination({ dest: fd, sync: true }),
  );
}

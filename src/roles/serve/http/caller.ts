import type { Context } from 'hono';

/** The one who makes a request. */
export interface Caller {
  /** Name of the login; undefined without one. */
  readonly login: string | undefined;
  /** The address that the request comes from. */
  readonly address: string;
  /** True for one who may change something. */
  readonly mayOperate: boolean;
  /** Patterns of the models that this one may read; undefined for all. */
  readonly models: readonly string[] | undefined;
}

/** Somebody without a login. */
export function strangerAt(address: string): Caller {
  return { login: undefined, address, mayOperate: false, models: undefined };
}

const unknown = strangerAt('unknown');

/** The caller of a request for data, whom `guardData` has found. */
export function callerOf(context: Context): Caller {
  return (context.get('caller') as Caller | undefined) ?? unknown;
}

import type { Context } from 'hono';

/** The one who makes a request. */
export interface Caller {
  /** Name of the login; undefined without one. */
  readonly login: string | undefined;
  /** The address that the request comes from. */
  readonly address: string;
  /** True for one who may change something. */
  readonly mayOperate: boolean;
  /** True for the session of a browser. It changes nothing, also where its token may. */
  readonly isSession: boolean;
  /** Patterns of the models that this one may read; undefined for all. */
  readonly models: readonly string[] | undefined;
  /** True for one who may learn which models there are. */
  readonly mayListModels: boolean;
}

/** Somebody without a login. @param mayListModels true where no login is needed from there */
export function strangerAt(address: string, mayListModels: boolean): Caller {
  const rights = { mayOperate: false, isSession: false, models: undefined, mayListModels };
  return { login: undefined, address, ...rights };
}

const unknown = strangerAt('unknown', false);

/** The caller of a request for data, whom `guardData` has found. */
export function callerOf(context: Context): Caller {
  return (context.get('caller') as Caller | undefined) ?? unknown;
}

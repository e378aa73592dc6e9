import { OperatorError } from '../../base/operator-error.ts';
import { failedProbe, type ProbeFinding } from '../../base/probe-finding.ts';
import type { ReceiverConfig } from '../../config/alert.ts';
import type { Config } from '../../config/schema.ts';
import { type Env, proxiesOf } from '../http/proxies.ts';
import { neverGets, neverMatches } from './never-matches.ts';
import { openRoutes } from './open-routes.ts';

/**
 * Mistakes in the receivers of a configuration that loads. Contacts no receiver. A receiver that can never
 * get anything is an error, since somebody waits for its pages. A model that does not exist today is no
 * error: it may come.
 */
export async function examineReceivers(config: Config, env: Env): Promise<ProbeFinding[]> {
  const { receivers, webhooks } = config.alert;
  const usesHttp = webhooks.length > 0 || receivers.some(({ type }) => type !== 'email');
  const ofProxies = usesHttp ? problemOf(() => proxiesOf(env)) : undefined;
  const usable = ofProxies === undefined ? env : {};
  const findings = await Promise.all(receivers.map((each) => examine(each, config, usable)));
  return [
    ...(ofProxies === undefined ? [] : [failedProbe('proxy', ofProxies)]),
    ...findings.flat(),
  ];
}

async function examine(
  receiver: ReceiverConfig,
  config: Config,
  env: Env,
): Promise<ProbeFinding[]> {
  const { name, match } = receiver;
  const what = `receiver ${name}`;
  const problem = await openingProblem(receiver, config, env);
  const never = neverMatches(match, config);
  const partly = neverGets(match, config);
  return [
    ...(problem === undefined ? [] : [failedProbe(what, problem)]),
    ...(never === undefined ? [] : [neverFinding(what, never)]),
    ...(partly.length === 0
      ? []
      : [{ ok: true, isWarning: true, what, detail: `gets only a part: ${partly.join('; ')}` }]),
  ];
}

function neverFinding(what: string, reason: string): ProbeFinding {
  const error = new OperatorError(
    'TAILMARK_CONFIG_INVALID',
    `Cannot notify ${what}: it can never match`,
  );
  const hint =
    'Correct its match, or the setting that the reason names: as it is, it is never notified.';
  return { ok: false, what, detail: `can never match: ${reason}`, hint, error };
}

/** The reason why a receiver cannot be opened, such as a `ca_file` that is no certificate. */
async function openingProblem(
  receiver: ReceiverConfig,
  { alert }: Config,
  env: Env,
): Promise<OperatorError | undefined> {
  const only = { ...alert, webhooks: [], receivers: [receiver] };
  let opened: ReturnType<typeof openRoutes> = [];
  const problem = problemOf(() => {
    opened = openRoutes(only, undefined, env);
  });
  await Promise.all(opened.map((route) => route.receiver.close()));
  return problem;
}

function problemOf(run: () => unknown): OperatorError | undefined {
  try {
    run();
    return undefined;
  } catch (error) {
    if (error instanceof OperatorError) return error;
    throw error;
  }
}

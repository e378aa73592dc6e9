import { randomBytes } from 'node:crypto';
import type { Answer, Notice } from '../../alert/receiver.ts';
import { openRoutes } from '../../alert/routing/open-routes.ts';
import type { Route } from '../../alert/routing/route.ts';
import { resolvedSample, sampleEvent } from '../../alert/routing/sample-event.ts';
import { type ExitCode, exitCodes } from '../../base/exit-codes.ts';
import { OperatorError } from '../../base/operator-error.ts';
import type { ReceiverConfig } from '../../config/alert.ts';
import type { Config } from '../../config/schema.ts';
import type { AnomalyEvent } from '../../contract/anomaly-event.ts';
import type { Io, Options } from '../io.ts';
import { colorsOf } from '../text/colors.ts';
import { printReportLine } from '../text/report-line.ts';
import { remedyFor } from './remedy-for.ts';

/** One attempt of a test. */
interface Step {
  readonly receiver: string;
  readonly state: AnomalyEvent['state'];
  readonly outcome: Answer['outcome'];
  readonly answer: string;
  /** Advice to the operator. */
  readonly hint?: string | undefined;
}

/** The next step of a running tailmark after an outcome. */
const onward: Readonly<Record<Answer['outcome'], string>> = {
  accepted: '',
  failed: 'A running tailmark tries again: after 1 s at first, after 5 min at most.',
  rejected: 'A running tailmark tries again every 5 min.',
  unacceptable: 'A running tailmark sends a short form once, then gives the message up.',
};

/** Answers where no connection came to be: nothing can have been accepted. */
const unconnected = /connection failed|connect E|getaddrinfo|TLS/;

/** Opens and ends a test anomaly at one receiver, and says what it answered and what to do about it. */
export async function testReceiver(
  config: Config,
  name: string | undefined,
  options: Options,
  io: Io,
): Promise<ExitCode> {
  const routes = openRoutes(config.alert, undefined, io.env);
  const chosen = routes.filter((route) => route.name === name);
  if (chosen.length === 0) throw unknownReceiver(name, routes);
  const settings = config.alert.receivers.find((receiver) => receiver.name === name);
  const nowMs = Date.now();
  const runbook = config.alert.runbook_url ?? null;
  const opened = sampleEvent(randomBytes(8).toString('hex'), nowMs, runbook);
  const steps: Step[] = [];
  for (const { receiver } of chosen) {
    let memory = '';
    for (const event of [opened, resolvedSample(opened, nowMs)]) {
      const answer = await receiver.send(noticeOf(event, memory), 'full');
      memory = answer.memory ?? memory;
      const step = stepOf(receiver.name, event.state, answer, settings);
      if (options.json !== true) printStep(step, steps.at(-1), io);
      steps.push(step);
      // A sample that was certainly not accepted is not open there, so there is nothing to end.
      const mayBeOpen = answer.outcome === 'failed' && !unconnected.test(answer.answer);
      if (answer.outcome !== 'accepted' && !mayBeOpen) break;
    }
  }
  const isGood = steps.every(({ outcome }) => outcome === 'accepted');
  if (options.json === true) io.out(`${JSON.stringify({ ok: isGood, steps })}\n`);
  else if (isGood) io.out('Accepted. Look there: a message marked TEST should be, and its end.\n');
  for (const { receiver } of routes) await receiver.close();
  return isGood ? exitCodes.ok : exitCodes.failed;
}

function noticeOf(event: AnomalyEvent, memory: string): Notice {
  const change = event.state === 'resolved' ? 'resolved' : 'opened';
  return { event, change, severities: [event.severity], memory, isTest: true };
}

function stepOf(
  receiver: string,
  state: AnomalyEvent['state'],
  answer: Answer,
  settings: ReceiverConfig | undefined,
): Step {
  const hint = remedyFor(answer, settings);
  const step = { receiver, state, outcome: answer.outcome, answer: answer.answer };
  return hint === undefined ? step : { ...step, hint };
}

/**
 * `fail  on-call opening: not accepted: 401 Unauthorized`; below it what to do and what a running tailmark does,
 * unless the step before says the same.
 */
function printStep(step: Step, before: Step | undefined, io: Io): void {
  const { receiver, state, outcome, answer, hint } = step;
  const isAccepted = outcome === 'accepted';
  const result = isAccepted ? 'accepted' : 'not accepted';
  const isKnown = before?.outcome === outcome && before.hint === hint;
  const goodLevel = hint === undefined ? 'ok' : 'warn';
  const what = `${receiver} ${state === 'resolved' ? 'end' : 'opening'}`;
  const detail = answer === '' ? result : `${result}: ${answer}`;
  printReportLine({ level: isAccepted ? goodLevel : 'fail', what, detail }, io);
  if (isKnown) return;
  const { dim } = colorsOf(io);
  for (const line of [hint, onward[outcome]]) if (line) io.out(`      ${dim(line)}\n`);
}

function unknownReceiver(name: string | undefined, routes: readonly Route[]): OperatorError {
  const names = [...new Set(routes.map((route) => route.name))];
  const known = names.length === 0 ? 'none is configured' : `it must be one of ${names.join(', ')}`;
  const what =
    name === undefined ? 'a receiver without its name' : `the receiver ${JSON.stringify(name)}`;
  return new OperatorError('TAILMARK_RECEIVER_UNKNOWN', `Cannot test ${what}: ${known}`, {
    hint: 'Receivers are configured in alert.receivers; see docs/how-to/alerts.md.',
  });
}

import type { ProbeFinding } from '../../base/probe-finding.ts';
import type { Config } from '../../config/schema.ts';
import type { Role } from '../role.ts';
import { assembleTopics } from './assemble-topics.ts';

type Warning = Required<Pick<ProbeFinding, 'ok' | 'isWarning' | 'what' | 'detail'>> & {
  readonly hint: string;
};

/**
 * Says what `check` warns of and `run` logs: a configuration of topics of spans that is valid and may be meant
 * otherwise.
 *
 * @throws OperatorError where these roles assemble and the configuration must not be used for that.
 */
export function assemblyWarnings(config: Config, roles: readonly Role[]): Warning[] {
  const { kafka, assemble } = config;
  const warnings: Warning[] = [];
  const warn = (what: string, detail: string, hint: string) =>
    warnings.push({ ok: true, isWarning: true, what, detail, hint });
  if (roles.includes('assemble')) {
    const { output } = assembleTopics(config);
    if (!kafka.topics.includes(output)) {
      const hint =
        'Add it to kafka.topics, unless a deployment with another configuration reads it.';
      warn('assemble.output', `is ${output}, which is none of kafka.topics`, hint);
    }
  } else if (assemble.topics.length > 0) {
    const hint = 'Start one with --roles assemble: without it spans give no events.';
    warn('assemble.topics', 'is set and this process does not assemble', hint);
  }
  const both = assemble.topics.map(({ topic }) => topic).filter((t) => kafka.topics.includes(t));
  if (both.length > 0) {
    const hint =
      'Its requests may count twice, by spans and by traces: take it out of one of the two.';
    warn('kafka.topics', `holds what assemble.topics holds too: ${both.join(', ')}`, hint);
  }
  return warnings;
}

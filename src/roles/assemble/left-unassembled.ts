import type { ProbeFinding } from '../../base/probe-finding.ts';
import type { Config } from '../../config/schema.ts';
import type { Role } from '../role.ts';

/** Says that topics of spans are configured and these roles do not assemble them; undefined where all is well. */
export function leftUnassembled(
  { assemble }: Pick<Config, 'assemble'>,
  roles: readonly Role[],
): ProbeFinding | undefined {
  if (assemble.topics.length === 0 || roles.includes('assemble')) return undefined;
  return {
    ok: true,
    isWarning: true,
    what: 'assemble.topics',
    detail: 'is set and this process does not assemble',
    hint: 'Start one with --roles assemble: without it spans give no events.',
  };
}

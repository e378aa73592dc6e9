import { OperatorError } from '../base/operator-error.ts';

export interface ConfigProblem {
  /** Place at which it was written: `tailmark.yaml:3:5`, `TAILMARK_KAFKA_BROKERS`, `--brokers`. */
  readonly where: string;
  /** Dotted key; '' for a problem of the file as a whole. */
  readonly key: string;
  /** Rule and value; the value of a secret is left out. */
  readonly message: string;
  readonly hint?: string | undefined;
}

const configHint =
  'Every key is described in docs/reference/configuration.md; `tailmark check` tries again.';

/** Reports all problems of the configuration, or of one of its files, at once. */
export class ConfigError extends OperatorError {
  readonly problems: readonly ConfigProblem[];

  constructor(
    problems: readonly ConfigProblem[],
    { what = 'the configuration', hint = configHint } = {},
  ) {
    const count = problems.length === 1 ? '1 problem' : `${problems.length} problems`;
    super(
      'TAILMARK_CONFIG_INVALID',
      [`Cannot use ${what}: ${count}`, ...problems.map(describeProblem)].join('\n'),
      { hint },
    );
    this.problems = problems;
  }
}

function describeProblem(problem: ConfigProblem): string {
  const line = `  ${problem.where}: ${problem.message}`;
  return problem.hint === undefined ? line : `${line}\n    ${problem.hint}`;
}

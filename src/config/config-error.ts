import { exitCodes } from '../base/exit-codes.ts';
import { OperatorError } from '../base/operator-error.ts';

/** One thing that is wrong with the configuration. */
export interface ConfigProblem {
  /** Where it was written: `tailmark.yaml:3:5`, `TAILMARK_KAFKA_BROKERS`, `--brokers`. */
  readonly where: string;
  /** Dotted key, '' where the file as a whole is wrong. */
  readonly key: string;
  /** What it must be and what it is; a secret's value never. */
  readonly message: string;
  readonly hint?: string;
}

/** Everything that is wrong with the configuration, at once. */
export class ConfigError extends OperatorError {
  readonly problems: readonly ConfigProblem[];

  constructor(problems: readonly ConfigProblem[]) {
    const count = problems.length === 1 ? '1 problem' : `${problems.length} problems`;
    super(
      'TAILMARK_CONFIG_INVALID',
      [`Cannot use the configuration: ${count}`, ...problems.map(describeProblem)].join('\n'),
      {
        hint: 'Every key is described in docs/reference/configuration.md; `tailmark check` tries again.',
        exitCode: exitCodes.config,
      },
    );
    this.problems = problems;
  }
}

function describeProblem(problem: ConfigProblem): string {
  const line = `  ${problem.where}: ${problem.message}`;
  return problem.hint === undefined ? line : `${line}\n    ${problem.hint}`;
}

import { Component, type ComponentChildren } from 'preact';

interface DrawnProps<Answer> {
  readonly answer: Answer;
  readonly children: (answer: Answer) => ComponentChildren;
}
interface State {
  readonly problem: string | undefined;
}

/** Draws an answer. One that cannot be drawn does not take the page with it; the next one is tried again. */
export class Boundary<Answer> extends Component<DrawnProps<Answer>, State> {
  override state: State = { problem: undefined };

  static override getDerivedStateFromError(error: unknown): State {
    return { problem: error instanceof Error ? error.message : String(error) };
  }

  override componentDidUpdate({ answer }: DrawnProps<Answer>): void {
    if (this.state.problem !== undefined && answer !== this.props.answer) {
      this.setState({ problem: undefined });
    }
  }

  override render() {
    const { problem } = this.state;
    if (problem === undefined) return <Drawn {...this.props} />;
    return (
      <p class="notice error" role="alert">
        BUG: this answer cannot be drawn: {problem}
      </p>
    );
  }
}

function Drawn<Answer>({ answer, children }: DrawnProps<Answer>) {
  return <>{children(answer)}</>;
}

import { useSignal } from '@preact/signals';
import { askAgain } from '../data/use-answer.ts';
import { beginSession } from '../state/session.ts';

const problems: Readonly<Record<number, string>> = {
  401: 'No such token.',
  429: 'Too many wrong tokens came from here: try again in a few minutes.',
};

/** Asks for a token. The server answers with a session, in a cookie that scripts cannot read. */
export function Login() {
  const token = useSignal('');
  const problem = useSignal('');
  const send = async (event: Event) => {
    event.preventDefault();
    problem.value = '';
    try {
      const response = await fetch('/v1/login', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ token: token.value }),
      });
      if (response.ok) {
        token.value = '';
        beginSession();
        askAgain();
      } else problem.value = problems[response.status] ?? 'The login failed.';
    } catch {
      problem.value = 'tailmark cannot be reached.';
    }
  };
  return (
    <main class="login">
      <h1>This dashboard needs a token</h1>
      <form onSubmit={(event) => void send(event)}>
        <label>
          Token
          <input
            type="password"
            autocomplete="current-password"
            required
            value={token.value}
            onInput={(event) => {
              token.value = event.currentTarget.value;
            }}
          />
        </label>
        <button type="submit" class="primary">
          Log in
        </button>
        {problem.value !== '' && (
          <p class="notice error" role="alert">
            {problem.value}
          </p>
        )}
      </form>
      <p class="hint">Tokens are in the file of http.auth.tokens_file.</p>
    </main>
  );
}

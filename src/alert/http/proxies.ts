import { hostRefusal } from '../../base/network/address-guard.ts';
import { OperatorError } from '../../base/operator-error.ts';

export type Env = Readonly<Record<string, string | undefined>>;

/** Proxies of an environment; '' for none. */
export interface Proxies {
  readonly httpProxy: string;
  readonly httpsProxy: string;
  /** Hosts that are connected to directly: `alertmanager,.internal,10.0.0.7:9093`, or `*`. */
  readonly noProxy: string;
}

/**
 * `HTTP_PROXY`, `HTTPS_PROXY` and `NO_PROXY`. A variable in lower case comes before the same one in upper
 * case, as in curl. A proxy without a scheme is an http one.
 *
 * @throws {OperatorError} if a proxy is no http or https address, or one that must not be connected to
 */
export function proxiesOf(env: Env): Proxies {
  return {
    httpProxy: proxyOf(env, 'HTTP_PROXY'),
    httpsProxy: proxyOf(env, 'HTTPS_PROXY'),
    noProxy: env.no_proxy ?? env.NO_PROXY ?? '',
  };
}

function proxyOf(env: Env, name: string): string {
  const value = (env[name.toLowerCase()] ?? env[name] ?? '').trim();
  if (value === '') return '';
  const text = value.includes('://') ? value : `http://${value}`;
  const problem = problemOf(text);
  if (problem !== undefined) throw refused(name, `must be an http or https URL: ${problem}`);
  const refusal = hostRefusal(new URL(text).hostname);
  if (refusal === undefined) return text;
  const found = refusal.replace(/: refused$/, '');
  throw refused(name, `must not lead to a link-local or cloud metadata address: ${found}`);
}

function refused(name: string, rule: string): OperatorError {
  return new OperatorError(
    'TAILMARK_CONFIG_INVALID',
    `Cannot send to receivers as ${name} ${rule}`,
    { hint: `Correct ${name} or unset it; NO_PROXY names hosts that need no proxy.` },
  );
}

/** The mistake in the form, as a text without the value, which may hold a password. */
function problemOf(text: string): string | undefined {
  if (!URL.canParse(text)) return 'it cannot be read as one';
  const { protocol, username, password } = new URL(text);
  if (protocol !== 'http:' && protocol !== 'https:') return `it begins with ${protocol}`;
  try {
    decodeURIComponent(username + password);
  } catch {
    return 'its login has a "%" that no two digits follow';
  }
  return undefined;
}

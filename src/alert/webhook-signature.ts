import { createHmac } from 'node:crypto';

const prefix = 'whsec_';

export interface WebhookSignatureInput {
  /** `whsec_` and base64, as Standard Webhooks writes secrets; any other text counts as its own bytes. */
  readonly secret: string;
  readonly id: string;
  readonly timestampSeconds: number;
  readonly body: string;
}

/**
 * Computes the `webhook-signature` header of Standard Webhooks: `v1,` and the base64 HMAC-SHA256 of
 * `id.timestamp.body`.
 */
export function webhookSignature(input: WebhookSignatureInput): string {
  const { secret, id, timestampSeconds, body } = input;
  const key = secret.startsWith(prefix)
    ? Buffer.from(secret.slice(prefix.length), 'base64')
    : Buffer.from(secret, 'utf8');
  const mac = createHmac('sha256', key).update(`${id}.${timestampSeconds}.${body}`);
  return `v1,${mac.digest('base64')}`;
}

import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { chooseFormat } from '../../../src/convert/input/file-formats.ts';
import { openInput } from '../../../src/convert/input/open-input.ts';

const folder = fileURLToPath(new URL('../../fixtures/formats/', import.meta.url));

/** Format of each folder's files; of JMeter, by their extension. */
const formats: Readonly<Record<string, string>> = {
  aiperf: 'aiperf',
  avro: 'avro_container',
  'aws-lambda': 'aws_lambda',
  k6: 'k6',
  langfuse: 'langfuse',
  litellm: 'litellm',
  nginx: 'nginx',
  'llm-server-spans': 'otlp_json',
  'jaeger-ui-json': 'jaeger_ui',
  openllmetry: 'otlp_json',
  'llm-bench': 'sglang_bench',
  llmperf: 'llmperf',
  locust: 'locust',
  onnxruntime: 'onnxruntime',
  'otlp-json': 'otlp_json',
  'ray-serve': 'ray_serve',
  torchserve: 'torchserve',
  triton: 'triton',
  'zipkin-json': 'zipkin_json',
};

const files = readdirSync(folder, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map((entry) => join(entry.parentPath, entry.name).slice(folder.length))
  // Kafka's records, messages in protobuf and attributes alone are no files that convert reads.
  .filter((path) => !/^(expected|jaeger-model-json|kafka|otlp-proto)\/|\/otel_genai_/.test(path))
  .sort();

it.each(files)('%s is recognised as one format, and says by what', async (path) => {
  const name = path.split('/')[0] ?? '';
  const jmeter = path.endsWith('.csv') ? 'jmeter_csv' : 'jmeter_xml';
  const envoy = /istio|text/.test(path) ? 'istio' : 'envoy';
  const openinference = path.includes('vercel') ? 'vercel_ai' : 'otlp_json';
  const { format, because } = chooseFormat(
    'auto',
    await openInput(join(folder, path), () => undefined),
  );
  expect(format.name).toBe({ ...formats, jmeter, envoy, openinference }[name]);
  expect(because).toMatch(/\S/);
});

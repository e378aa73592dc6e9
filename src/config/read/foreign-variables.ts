/** Variables of this name space that set no setting, and their purposes. */
const others: Readonly<Record<string, string>> = {
  TAILMARK_CONFIG: 'Configuration file, if there is no --config.',
  TAILMARK_CACHE_DIR: 'Where the engines of the local stack are kept.',
};

/**
 * Kubernetes injects these variables into every pod for a Service named `tailmark` or `tailmark-…`:
 * TAILMARK_SERVICE_HOST, TAILMARK_PORT, TAILMARK_PORT_9464_TCP_ADDR.
 */
const serviceLink =
  /_SERVICE_(HOST|PORT(_[A-Z0-9_]+)?)$|_PORT(_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)?$/;

/** Variables that start with TAILMARK_ and set no setting, with their purposes. */
export const foreignVariables = {
  documented: others,
  isForeign: (name: string) => Object.hasOwn(others, name) || serviceLink.test(name),
};

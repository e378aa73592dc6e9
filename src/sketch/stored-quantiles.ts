/** The quantiles of every `latency` column (sql/): views, dashboards and alerts ask for these. */
export const storedQuantiles = [0.5, 0.9, 0.95, 0.99, 0.999] as const;

export type Option = readonly [value: string, text: string];

interface Props {
  readonly name: string;
  readonly value: string;
  readonly options: readonly Option[];
  readonly onChoose: (value: string) => void;
}

/** A value to choose from a list. */
export function Choice({ name, value, options, onChoose }: Props) {
  return (
    <label>
      {name}
      <select value={value} onChange={(event) => onChoose(event.currentTarget.value)}>
        {options.map(([option, text]) => (
          <option key={option} value={option} selected={option === value}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
}

/** Values with the chosen one among them, also where the range does not have it. */
export function withChosen(
  values: readonly string[],
  chosen: string | undefined,
): readonly string[] {
  return chosen === undefined || values.includes(chosen) ? values : [chosen, ...values];
}

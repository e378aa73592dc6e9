import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';

interface PageTitleProps {
  /** The answer of the view in a sentence; also the title of the browser's tab. */
  readonly text: string;
  readonly children?: ComponentChildren;
}

/** The title of a view, which is its answer and not its name. */
export function PageTitle({ text, children }: PageTitleProps) {
  useEffect(() => {
    document.title = `${text} · tailmark`;
  }, [text]);
  return (
    <div class="page-title">
      <h1>{text}</h1>
      {children}
    </div>
  );
}

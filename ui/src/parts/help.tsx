import { useEffect, useRef } from 'preact/hooks';
import { isHelpOpen, keyHelp } from '../state/keys.ts';

/** The keys, in a dialog. */
export function Help() {
  const dialog = useRef<HTMLDialogElement>(null);
  const isOpen = isHelpOpen.value;
  useEffect(() => {
    if (isOpen) dialog.current?.showModal();
    else dialog.current?.close();
  }, [isOpen]);
  return (
    <dialog
      ref={dialog}
      aria-labelledby="help-title"
      onClose={() => {
        isHelpOpen.value = false;
      }}
    >
      <h2 id="help-title">Keys</h2>
      <dl class="keys">
        {keyHelp.map(([key, text]) => (
          <div key={key}>
            <dt>
              {key.split(/\s+/).map((one) => (
                <kbd key={one}>{one}</kbd>
              ))}
            </dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
      <form method="dialog">
        <button type="submit">Close</button>
      </form>
    </dialog>
  );
}

// The keys, in a dialog.

import { useEffect, useRef } from "preact/hooks";

const KEYS: [string, string][] = [
  ["\u2190 \u2192", "step back, step forward; with Shift ten steps"],
  ["Home End", "first step, result"],
  ["Space", "play or pause"],
  [", .", "slower, faster"],
  ["[ ]", "previous, next phase of the algorithm"],
  ["d", "first error of a network"],
  ["j k", "next, previous sample of a network"],
  ["l", "step two pictures together or apart"],
  ["r", "another problem (next seed)"],
  ["t", "light or dark"],
  ["g", "start page"],
  ["?", "this help"],
  ["Esc", "close a menu or this help"],
];

export function Help({ isOpen, close }: { isOpen: boolean; close(): void }) {
  const ref = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const dialog = ref.current;
    if (isOpen && dialog && !dialog.open) {
      dialog.showModal();
    } else if (!isOpen) {
      dialog?.close();
    }
  }, [isOpen]);
  return (
    <dialog ref={ref} class="help" onClose={close} aria-labelledby="help-title">
      <h2 id="help-title">Keys</h2>
      <dl>
        {KEYS.map(([keys, meaning]) => (
          <div key={keys}>
            <dt>
              {keys.split(" ").map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{meaning}</dd>
          </div>
        ))}
      </dl>
      <p>
        <span class="change-sample" /> marks what changed in this step: a frame or halo, and a folded corner or diamond.
      </p>
      <form method="dialog">
        <button type="submit">Close</button>
      </form>
    </dialog>
  );
}

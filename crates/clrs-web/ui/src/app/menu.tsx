// A menu below its button. Escape, a choice and a click elsewhere close it.

import { useEffect, useRef } from "preact/hooks";
import { classes } from "../pictures/marks.tsx";

export interface MenuProps {
  label: preact.ComponentChildren;
  name?: string;
  /** The items; `close` closes the menu. */
  children(close: () => void): preact.ComponentChildren;
}

export function Menu({ label, name, children }: MenuProps) {
  const ref = useRef<HTMLDetailsElement>(null);
  const close = () => ref.current?.removeAttribute("open");
  useEffect(() => {
    const closeOutside = ({ target }: Event) => {
      if (target instanceof Node && !ref.current?.contains(target)) {
        close();
      }
    };
    const events = ["pointerdown", "focusin"] as const;
    events.forEach((event) => addEventListener(event, closeOutside));
    return () => events.forEach((event) => removeEventListener(event, closeOutside));
  }, []);
  const closeByKey = (event: KeyboardEvent) => {
    if (event.key === "Escape" && ref.current?.open) {
      // One key closes one thing.
      event.stopPropagation();
      close();
      ref.current.querySelector("summary")?.focus();
    }
  };
  return (
    <details class={classes("menu", name)} ref={ref} onKeyDown={closeByKey}>
      <summary>{label}</summary>
      {children(close)}
    </details>
  );
}

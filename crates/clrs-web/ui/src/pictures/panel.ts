// A part of the composed picture: its size, and how to draw a frame with the top left corner at the origin.

import type { ComponentChildren } from "preact";
import type { View } from "../model/view.ts";

export interface Panel {
  /** Name for keys and for tests. */
  name: string;
  width: number;
  height: number;
  draw(view: View): ComponentChildren;
}

/** Distance between panels. */
export const GAP = 28;

// Colors are names of CSS custom properties (`--red`), which the style sheet defines for light and dark pages. They can be told
// apart with any color vision, and none carries a meaning alone: marks also differ in shape or label.

export type Color = "red" | "blue" | "purple" | "teal" | "brown" | "pink" | "olive" | "green" | "gray";

const CURSORS: Color[] = ["blue", "purple", "teal", "brown", "pink", "olive"];

/** Colors of index pointers: `i` is red as in the literature, the others take turns. Without an `i`, the first is red. */
export function cursorColors(names: string[]): Map<string, Color> {
  const red = names.includes("i") ? "i" : names[0];
  const others = names.filter((name) => name !== red);
  const colors = new Map<string, Color>(others.map((name, index) => [name, CURSORS[index % CURSORS.length] as Color]));
  if (red !== undefined) {
    colors.set(red, "red");
  }
  return colors;
}

/** Colors of pointers between nodes: the first is green. */
export const POINTER_COLORS: Color[] = ["green", "purple", "brown", "teal", "pink"];

/** Colors of marked edges. */
export const EDGE_COLORS: Color[] = ["green", "purple", "brown"];

const NAMED: Record<string, string> = { white: "white", gray: "gray", grey: "gray", black: "black" };

/** The CSS class of the fill of a class: the color it is named after, or one of a sequence. */
export function classFill(name: string | undefined, value: number): string {
  const word = name?.split(" ")[0] ?? "";
  return value < 0 ? "masked" : `fill-${NAMED[word] ?? value % 6}`;
}

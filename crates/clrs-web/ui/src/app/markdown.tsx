// The little Markdown that the documentation of algorithms uses: headings, paragraphs, lists, code, emphasis.

import type { ComponentChildren } from "preact";

export interface Block {
  kind: "heading" | "paragraph" | "list" | "code";
  lines: string[];
}

export function blocks(text: string): Block[] {
  const found: Block[] = [];
  let open: Block | null = null;
  const close = () => {
    open = null;
  };
  for (const line of text.split("\n")) {
    const isCode: boolean = (open as Block | null)?.kind === "code";
    if (line.startsWith("```")) {
      open = isCode ? null : { kind: "code", lines: [] };
      if (open) {
        found.push(open);
      }
    } else if (isCode) {
      (open as unknown as Block).lines.push(line);
    } else if (line.trim() === "") {
      close();
    } else if (line.startsWith("#")) {
      close();
      found.push({ kind: "heading", lines: [line.replace(/^#+\s*/, "")] });
    } else {
      const item = /^[-*] (.*)/.exec(line);
      const kind: Block["kind"] = item || (open as Block | null)?.kind === "list" ? "list" : "paragraph";
      if (!open || (open as Block).kind !== kind) {
        open = { kind, lines: [] };
        found.push(open);
      }
      const { lines } = open as Block;
      if (item || kind === "paragraph" || lines.length === 0) {
        lines.push(item?.[1] ?? line);
      } else {
        lines[lines.length - 1] += ` ${line.trim()}`;
      }
    }
  }
  return found;
}

export function Markdown({ text }: { text: string }) {
  return (
    <>
      {blocks(text).map(({ kind, lines }, index) => {
        switch (kind) {
          case "heading":
            return <h3 key={index}>{inline(lines[0] ?? "")}</h3>;
          case "code":
            return <pre key={index}>{lines.join("\n")}</pre>;
          case "list":
            return (
              <ul key={index}>
                {lines.map((line, k) => (
                  <li key={k}>{inline(line)}</li>
                ))}
              </ul>
            );
          default:
            return <p key={index}>{inline(lines.join(" "))}</p>;
        }
      })}
    </>
  );
}

/** Code and emphasis within a line. */
export function inline(text: string): ComponentChildren {
  return text.split(/(`[^`]+`|\*[^*\s][^*]*\*)/).map((piece, index) => {
    if (piece.length > 2 && piece.startsWith("`")) {
      return <code key={index}>{piece.slice(1, -1)}</code>;
    }
    return piece.length > 2 && piece.startsWith("*") ? <em key={index}>{piece.slice(1, -1)}</em> : piece;
  });
}

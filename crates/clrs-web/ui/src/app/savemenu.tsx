// A menu of files to take away.

import { Icon } from "./icons.tsx";
import { Menu } from "./menu.tsx";
import { download, htmlFile, svgFile } from "./save.tsx";
import type { Shown } from "./viewer.tsx";

export function SaveMenu({ shown, frame }: { shown: Shown[]; frame: number }) {
  const saveSvg = (of: Shown) => {
    const truth = of.recording === of.run.truth ? null : of.run.truth;
    const text = svgFile({ title: of.title, scene: of.run.scene, recording: of.recording, truth, frame, frames: of.recording.frames });
    download(`${of.run.trace.algorithm}-${frame + 1}.svg`, "image/svg+xml", text);
  };
  const saveHtml = () => {
    const documents = [...new Map(shown.map(({ run, text }) => [run.trace, { trace: run.trace, text }])).values()];
    const name = documents.map(({ trace }) => trace.algorithm).join("-");
    const title = documents.map(({ text }) => text.title).join(", ");
    download(`${name}.html`, "text/html", htmlFile(title, { documents, frame }));
  };
  return (
    <Menu label={<><Icon name="save" /> Save</>}>
      {(close) => (
        <div class="menu-items" onClick={close}>
          {shown.map((one, index) => (
            <button key={index} type="button" onClick={() => saveSvg(one)}>
              {shown.length > 1 ? `Picture of ${one.title} (SVG)` : "Picture (SVG)"}
            </button>
          ))}
          <button type="button" onClick={saveHtml}>
            Page with all steps (HTML)
          </button>
        </div>
      )}
    </Menu>
  );
}

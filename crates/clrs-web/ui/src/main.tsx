// The explorer: one page, served by `clrs serve` or saved with a trace inside.

import { render } from "preact";
import { App } from "./app/app.tsx";

render(<App />, document.getElementById("app") as HTMLElement);

import { App } from "./app";
import { embeddedSource } from "./source";

const app = new App(document.getElementById("page")!);
embeddedSource(document.getElementById("podere-report")!).follow((reading) => app.show(reading));

// JupyterLab's own way from a bundle of MIME types to the page: the same registry, trust rules, sanitiser and script
// handling as a notebook of JupyterLab 4 and Notebook 7. The shortcuts below stand for the notebook's.
import { CommandRegistry } from '@lumino/commands';
import { Panel, Widget } from '@lumino/widgets';
import { MimeModel, RenderMimeRegistry, standardRendererFactories } from '@jupyterlab/rendermime';

const registry = new RenderMimeRegistry({ initialFactories: standardRendererFactories });
let panel;
window.showInLab = async (data, trusted) => {
  if (!panel) {
    panel = new Panel();
    panel.addClass('jp-Notebook');
    Widget.attach(panel, document.body);
  }
  const mime = registry.preferredMimeType(data, trusted ? 'any' : 'ensure');
  const widget = registry.createRenderer(mime);
  const rendered = widget.renderModel(new MimeModel({ data, trusted }));
  panel.addWidget(widget);
  await rendered;
  return mime;
};

window.notebookKeys = [];
const commands = new CommandRegistry();
for (const keys of [['A'], ['B'], ['X'], ['D', 'D'], ['0', '0'], ['Enter'], ['ArrowDown'], ['F']]) {
  const id = 'notebook:' + keys.join('');
  commands.addCommand(id, { execute: () => { window.notebookKeys.push(keys.join('')); } });
  commands.addKeyBinding({ command: id, keys, selector: '.jp-Notebook' });
}
document.addEventListener('keydown', e => commands.processKeydownEvent(e), true);

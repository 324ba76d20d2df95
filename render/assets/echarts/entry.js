// What the committed echarts-cut.js.gz holds: the chart types that reports use, drawn on canvas.
import { init, use } from 'echarts/core';
import { BarChart, LineChart, PieChart, SunburstChart, TreemapChart, ScatterChart, HeatmapChart, BoxplotChart } from 'echarts/charts';
import { AriaComponent, DataZoomComponent, GridComponent, LegendComponent, TitleComponent, TooltipComponent, VisualMapComponent, MarkLineComponent, MarkPointComponent } from 'echarts/components';
import { CanvasRenderer } from 'echarts/renderers';

use([BarChart, LineChart, PieChart, SunburstChart, TreemapChart, ScatterChart, HeatmapChart, BoxplotChart, AriaComponent, DataZoomComponent, GridComponent, LegendComponent, TitleComponent, TooltipComponent, VisualMapComponent, MarkLineComponent, MarkPointComponent, CanvasRenderer]);
export { init };
